-- Which users have more than three unexpected ends in a week? Weeks begin on Monday.
-- Expected are the ends by the user and those by a rule, as in the report (Specs/ReplayReport.md).
-- The pseudonyms must be made with one key, so that a user has one name in all journals.
SELECT strftime(date_trunc('week', ended), '%Y-%m-%d') AS week,
       "user",
       count(*) AS ends,
       min(app) AS app
FROM ends
WHERE ended IS NOT NULL AND NOT damaged AND cause NOT IN (
  'account-deleted', 'account-inactive', 'ended-by-server', 'inactive', 'lifetime-over', 'user-logout',
  'user-logout-after-expiry')
GROUP BY week, "user"
HAVING count(*) > 3
ORDER BY week, ends DESC, "user";
