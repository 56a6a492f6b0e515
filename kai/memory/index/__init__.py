"""What finds the nearest vectors: two engines behind one interface, made from the rows of the store and kept in memory.

An index may miss what it should find. It never gives anything away: what it finds is read again before anybody sees it.
"""
