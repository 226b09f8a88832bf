// The words of the sampler, chosen by the lang of the document.

export const WORDS = {
  en: {
    beginning: "Text so far",
    temperature: "Temperature",
    k: "Top-k",
    p: "Top-p",
    draw: "Draw one",
    many: "Draw 100",
    reset: "Reset",
    tokens: "Next tokens, the likeliest first",
    dropped: "dropped",
    reading: "{kept} of {all} tokens stay. At this temperature they had {share} % of the probability; now they share all of it.",
    nothing: "Nothing drawn yet.",
    one: "Draws so far: {count}. The last one: {token}.",
    hint: "Temperature first, then top-k, then top-p. Every change begins a new count.",
  },
  ko: {
    beginning: "지금까지의 글",
    temperature: "온도",
    k: "톱-k",
    p: "톱-p",
    draw: "하나 뽑기",
    many: "100개 뽑기",
    reset: "처음으로",
    tokens: "다음 토큰, 확률이 높은 순서",
    dropped: "제외됨",
    reading: "토큰 {all}개 중 {kept}개가 남습니다. 이 온도에서 이들의 확률은 모두 {share} %였고, 이제 전체를 나누어 가집니다.",
    nothing: "아직 뽑은 토큰이 없습니다.",
    one: "뽑은 횟수: {count}. 마지막: {token}.",
    hint: "온도, 톱-k, 톱-p의 순서로 적용합니다. 값을 바꾸면 횟수를 새로 셉니다.",
  },
};
