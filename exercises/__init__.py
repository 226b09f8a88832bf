"""What each chapter asks of a learner, and how an answer is checked."""
