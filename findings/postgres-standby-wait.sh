#!/usr/bin/env bash
# PostgreSQL 16.2: nothing limits how long a COMMIT waits for a synchronous standby that is missing.
#
# Seen on the server that the package pgserver 0.1.4 holds, by psycopg 3.3.9:
# - `statement_timeout` of 500 ms ends a `pg_sleep`, and neither it nor `idle_in_transaction_session_timeout` ends
#   the wait of a COMMIT.
# - If the client closes its connection, the server's process goes on waiting, and keeps the locks of its rows.
# - After `pg_cancel_backend` the COMMIT does not fail: it is answered as done. Only a notice, a warning with the
#   SQLSTATE of a plain warning (01000), says that the standby may not have it.
# So a client that counts each answered COMMIT as replicated must read notices, and a client that gives up does not
# free what it holds.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pgserver==0.1.4 'psycopg[binary]==3.3.9'

cat > program.py <<'PY'
import threading
import time

import pgserver
import psycopg

server = pgserver.get_server("data", cleanup_mode="delete")
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


def connect(**more):
    return psycopg.connect(server.get_uri(), **more)


def until(true):
    end = time.monotonic() + 20
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    return true()


owner = connect(autocommit=True)
print("server:", owner.execute("SHOW server_version").fetchone()[0].split()[0])
owner.execute("CREATE TABLE row (id int PRIMARY KEY, value int)")
owner.execute("INSERT INTO row VALUES (1, 0)")
owner.execute("ALTER SYSTEM SET synchronous_standby_names = 'missing'")
owner.execute("SELECT pg_reload_conf()")
waiting = lambda: owner.execute(WAITING).fetchone()[0]
time.sleep(1)

answer = []


def commit(value):
    with connect() as base:
        base.add_notice_handler(lambda notice: answer.append(f"notice {notice.severity} {notice.sqlstate}"))
        base.execute("SET statement_timeout = 500")
        base.execute("SET idle_in_transaction_session_timeout = 500")
        try:
            base.execute("SELECT pg_sleep(5)")
        except psycopg.errors.QueryCanceled:
            answer.append("pg_sleep was ended")
        base.rollback()
        base.execute("SET statement_timeout = 500")
        base.execute("SET idle_in_transaction_session_timeout = 500")
        base.execute("UPDATE row SET value = %s", [value])
        base.commit()
        answer.append("commit was answered as done")


thread = threading.Thread(target=commit, args=(1,))
thread.start()
assert until(lambda: waiting() == 1)
time.sleep(3)
print("still waits after 3 s:", waiting() == 1)
owner.execute("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
thread.join(20)
print(", then ".join(answer))

gone = connect()
gone.execute("UPDATE row SET value = 2")
gone.pgconn.send_query(b"COMMIT")
assert until(lambda: waiting() == 1)
gone.pgconn.finish()
time.sleep(3)
print("still waits 3 s after its client has gone:", waiting() == 1)
try:
    owner.execute("SET lock_timeout = 200")
    owner.execute("UPDATE row SET value = 3")
except psycopg.errors.LockNotAvailable:
    print("its row is still locked")
owner.execute("ALTER SYSTEM RESET synchronous_standby_names")
owner.execute("SELECT pg_reload_conf()")
until(lambda: waiting() == 0)
owner.close()
PY
venv/bin/python program.py > output 2> errors || { cat output errors; exit 1; }
cat output
diff output - << 'END'
server: 16.2
still waits after 3 s: True
pg_sleep was ended, then notice WARNING 01000, then commit was answered as done
still waits 3 s after its client has gone: True
its row is still locked
END
