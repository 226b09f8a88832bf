"""Words in pictures, in the language of the edition that is being built."""

import os

KOREAN = {
    "input": "입력",
    "queries": "쿼리",
    "keys": "키",
    "values": "값",
    "scores": "점수",
    "weights": "가중치",
    "outputs": "출력",
    "query": "쿼리",
    "key": "키",
    "who asks": "묻는 토큰",
    "who is looked at": "보이는 토큰",
    "one view": "시점 하나",
    "three views": "시점 셋",
    "encoder": "인코더",
    "decoder": "디코더",
    "source tokens": "원문 토큰",
    "target tokens": "번역문 토큰",
    "next token": "다음 토큰",
    "embedding": "임베딩",
    "positions": "위치",
    "self-attention": "셀프 어텐션",
    "masked self-attention": "마스크드 셀프 어텐션",
    "cross-attention": "크로스 어텐션",
    "feed-forward": "피드포워드",
    "residual and norm": "잔차와 정규화",
    "probabilities": "확률",
    "causal": "인과 마스크",
    "sliding window": "슬라이딩 윈도",
    "strided": "스트라이드",
    "fixed": "고정 블록",
    "BigBird": "빅버드",
    "tokens": "토큰 수",
    "pairs looked at": "보는 쌍의 수",
    "full": "전체",
    "without a mask": "마스크 없음",
    "with the causal mask": "인과 마스크 사용",
    "training step": "학습 단계",
    "loss": "손실",
    "sub-layer": "서브레이어",
    "norm": "정규화",
    "post-norm": "포스트 놈",
    "pre-norm": "프리 놈",
    "without residual": "잔차 없이",
    "with residual": "잔차와 함께",
    "residual, pre-norm": "잔차, 프리 놈",
    "residual, post-norm": "잔차, 포스트 놈",
    "layers": "레이어 수",
    "size of the gradient at the input": "입력에서의 기울기 크기",
    "step": "스텝",
    "chance": "무작위 수준",
    "constant rate": "일정한 학습률",
    "warm-up": "웜업",
}


def say(text: str) -> str:
    """Give a word of a picture in the language of the edition (``TFBOOK_LANG``)."""
    if os.environ.get("TFBOOK_LANG") == "ko":
        return KOREAN.get(text, text)
    return text
