"""How much fire: the short form runs with all tests, the long one by `make soak`."""

import os

SOAK = os.environ.get("SOAK") == "1"

FAMILIES = 500 if SOAK else 60
KILLS = 200 if SOAK else 20
FLUSHED_FAMILIES = 200 if SOAK else 12
CONTESTED_IDS = 150 if SOAK else 20
CHURN_SECONDS = 60 if SOAK else 10
FROZEN_SECONDS = 30 if SOAK else 3
LOST_REPLIES = 1000 if SOAK else 60
STORE_KILLS = 20 if SOAK else 3
RESTARTS = 10 if SOAK else 2
REPLACEMENTS = 10 if SOAK else 1
PRIMARY_KILLS = 10 if SOAK else 2
PRIMARY_KILLS_EVERY = 20 if SOAK else 0
STREAMED = 200_000 if SOAK else 4_000

# Of a machine that is busy with the test itself no more is asked than that it answers at all.
# How much of the service was run is measured elsewhere: workers start in half the time without.
SERVED = {
    "TWINSIFT_WORKERS": "4",
    "TWINSIFT_DEADLINE": "20s",
    "COVERAGE_PROCESS_CONFIG": "",
}
