// The words of the residual stream, chosen by the lang of the document.

export const WORDS = {
  en: {
    depth: "Depth",
    layer: "Layer",
    reset: "Reset",
    stream: "the stream",
    added: "what each layer adds",
    axis: "layer",
    cosine: "cosine with the end",
    first: "Before the first layer: size {size}. Cosine with the end: {cosine}.",
    reading: "After layer {layer} of {depth}: size {size}. The layer added {added}, which is {share} % of that. Cosine with the end: {cosine}.",
    hint: "Point at a layer, or use the sliders.",
    names: { "pre-norm": "pre-norm", "post-norm": "post-norm" },
  },
  ko: {
    depth: "깊이",
    layer: "레이어",
    reset: "처음으로",
    stream: "스트림",
    added: "레이어마다 더하는 것",
    axis: "레이어",
    cosine: "끝과의 코사인",
    first: "첫 레이어 앞: 크기 {size}. 끝과의 코사인: {cosine}.",
    reading: "{depth}개 중 {layer}번째 레이어 뒤: 크기 {size}. 이 레이어가 더한 것은 {added}, 크기의 {share} %. 끝과의 코사인: {cosine}.",
    hint: "레이어를 가리키거나 슬라이더를 쓰세요.",
    names: { "pre-norm": "프리 놈", "post-norm": "포스트 놈" },
  },
};
