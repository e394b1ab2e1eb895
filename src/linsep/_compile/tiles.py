"""Products of columns, a tile of their matrix at a time: part of `linsep._compile`."""


def outer_sums(Z, rows, a, b, across, G):  # type: ignore[no-untyped-def]
    """G[8a : 8a + 8, Lb : L(b + across)] += Σ z[8a : 8a + 8] z[Lb : L(b + across)]ᵀ over the rows.

    Z (tiles, room, L) has the first columns of every row in Z[0], the next in Z[1] and so on, L of
    them in 64 bytes: 8 in double precision, 16 in single. In kernels `across` is a constant, and
    the sums of a tile stay in registers: each entry's products are added up in the order of the
    rows, whatever machine it is, and then to G.
    """
    L = Z.shape[2]
    for i in range(8 * a, 8 * a + 8):
        for j in range(L * b, L * (b + across)):
            total = Z.dtype.type(0)
            for k in range(rows):
                total += Z[i // L, k, i % L] * Z[j // L, k, j % L]
            G[i, j] += total


def write_tile(X, place, shift, scale, root, Z, m, k):  # type: ignore[no-untyped-def]
    """Z[m, k] ← (x − shift)·scale·root of the L numbers from `place` on in the memory of X.

    Of `shift` and `scale` those of tile m, in double precision; in kernels three operations for
    every eight numbers, which the compiler by itself makes one by one.
    """
    L = Z.shape[2]
    x = X.reshape(-1)[place : place + L].astype(float)
    part = slice(L * m, L * m + L)
    Z[m, k] = (x - shift[part]) * (scale[part] * root)
