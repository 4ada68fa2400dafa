-- A store of runs, version 2. `application_id` and `user_version` are set beside it.
--
-- A store is of one sweep and one build of the program. Whoever opens it compares these tables with
-- the file's, word by word, and looks at every row (check.rs). `sum` is a sum over the other columns
-- of its row (row.rs); leases have none, since they are no results.
--
-- Version 1 had no sums. It is refused and not brought up to date: its runs are those of another
-- build, which no newer one goes on with. The program that made it still reads it.

-- What is swept, and the size of a chunk of cells. `definition`: the hash of all but the values of
-- axes and the seeds, a blank, the hash of all, a blank, the program (db.rs). Where the second alone
-- differs, grow.rs gives the cells their new numbers; runs that no cell has stay. A store without the
-- program is one of before, which is refused.
CREATE TABLE sweep (
    definition TEXT NOT NULL,
    said TEXT NOT NULL,
    cells INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    sum INTEGER NOT NULL
) STRICT;

-- Chunks that somebody works on or has done. A lease of which `until_ms` is over, or whose owner is
-- gone, may be taken.
CREATE TABLE lease (
    chunk INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    until_ms INTEGER NOT NULL,
    done INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX lease_open ON lease (done) WHERE done = 0;

-- Points of the design: what all their runs have.
CREATE TABLE point (
    point INTEGER PRIMARY KEY,
    labels TEXT NOT NULL,
    platform TEXT NOT NULL,
    platform_hash TEXT NOT NULL,
    workload TEXT NOT NULL,
    workload_hash TEXT NOT NULL,
    policy TEXT NOT NULL,
    settings TEXT NOT NULL,
    options TEXT NOT NULL,
    jitter TEXT NOT NULL,
    duration_ns INTEGER NOT NULL,
    sum INTEGER NOT NULL
) STRICT;

-- Names of metrics.
CREATE TABLE metric (
    metric INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    sum INTEGER NOT NULL
) STRICT;

-- Cells that are done, by number, with the key of all that decides them.
CREATE TABLE cell (
    cell INTEGER PRIMARY KEY,
    point INTEGER NOT NULL,
    seed TEXT NOT NULL,
    key TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT;

-- Runs by key. `metrics`: number of a metric (4 bytes) and value (8 bytes), little-endian. The sum
-- is over the metrics' names, not their numbers.
CREATE TABLE run (
    key TEXT PRIMARY KEY,
    event_hash TEXT NOT NULL,
    behaviour_hash TEXT NOT NULL,
    error TEXT NOT NULL,
    metrics BLOB NOT NULL,
    sum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
