// The arithmetic of positions on plain arrays: solutions/positions.py again.
// Compared with it in tests/visuals/test_position_lab.py.

/** The angle of each pair of numbers at a position. */
function angles(position, width, base) {
  const pairs = Math.ceil(width / 2);
  return Array.from({ length: pairs }, (_, i) => position * base ** ((-2 * i) / width));
}

/** Sines and cosines by turns. */
export function sinusoidal(position, width, base) {
  const waves = angles(position, width, base).flatMap((angle) => [Math.sin(angle), Math.cos(angle)]);
  return waves.slice(0, width);
}

/** Number i is paired with number i + width / 2, and the pair is turned. */
export function rotate(vector, position, base) {
  const half = vector.length / 2;
  const turns = angles(position, vector.length, base);
  return vector.map((number, i) => {
    const angle = turns[i % half];
    const partner = i < half ? -vector[i + half] : vector[i - half];
    return number * Math.cos(angle) + partner * Math.sin(angle);
  });
}

/** The bucket of a distance, key minus query; half of the buckets are for keys ahead. */
export function t5Bucket(distance, numBuckets, maxDistance) {
  const half = Math.floor(numBuckets / 2);
  const exact = Math.floor(half / 2);
  const ahead = distance > 0 ? half : 0;
  const far = Math.abs(distance);
  if (far < exact) return ahead + far;
  // torch counts in 32 bits, and that decides at the edge of a bucket
  const log = Math.fround(Math.log(Math.fround(far / exact)));
  const growth = Math.fround(log / Math.fround(Math.log(maxDistance / exact)));
  const wide = exact + Math.trunc(Math.fround(growth * (half - exact)));
  return ahead + Math.min(wide, half - 1);
}

export function dot(one, other) {
  return one.reduce((total, number, i) => total + number * other[i], 0);
}
