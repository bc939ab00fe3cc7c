"""Ways to prove who a person is, and what holds back those who guess."""
