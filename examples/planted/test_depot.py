from depot import due


def test_parcels_are_due_after_two_weeks():
    parcels = [{"days": 15}, {"days": 3}]
    # Planted: a pair is always true.
    assert (due(parcels) == [{"days": 15}], "only the old one is due")
