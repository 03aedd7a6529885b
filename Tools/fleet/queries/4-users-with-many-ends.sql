-- Which users have more than three unexpected ends in a week? Weeks begin on Monday.
-- The pseudonyms must be made with one key, so that a user has one name in all journals.
SELECT strftime(date_trunc('week', ended), '%Y-%m-%d') AS week,
       "user",
       count(*) AS ends,
       min(app) AS app
FROM ends
WHERE ended IS NOT NULL AND NOT damaged AND cause NOT IN ('user-logout', 'user-logout-after-expiry', 'account-deleted')
GROUP BY week, "user"
HAVING count(*) > 3
ORDER BY week, ends DESC, "user";
