// The maps of a training film: lower triangles, row by row, one character a weight.

const SHADES = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";

/** The maps of one frame: for each head its rows, and row i has i + 1 weights. */
export function unfold(shades, seq) {
  const each = (seq * (seq + 1)) / 2;
  return Array.from({ length: shades.length / each }, (_, map) =>
    Array.from({ length: seq }, (_, row) => {
      const start = map * each + (row * (row + 1)) / 2;
      return [...shades.slice(start, start + row + 1)].map((shade) => SHADES.indexOf(shade) / 63);
    }));
}
