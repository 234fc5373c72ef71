import pytest
from onrush_cluster import Cluster


@pytest.fixture
def cluster(tmp_path):
    """A coordinator, and agents by `cluster.agent(...)`; all of them end with the test."""
    with Cluster(tmp_path) as made:
        yield made
