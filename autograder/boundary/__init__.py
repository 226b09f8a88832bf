"""The trust boundary: tests run in a checker, answers in a student kernel.

Only plain values cross it. See the page “The trust boundary” of the book.
"""
