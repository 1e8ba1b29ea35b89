from depot import due


def test_parcels_are_due_after_two_weeks():
    parcels = [{"days": 15}, {"days": 3}]
    assert due(parcels) == [{"days": 15}]
