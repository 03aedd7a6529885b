-- How far do sessions come, from the login to an expiry?
SELECT app,
       count(*) AS logins,
       count(*) FILTER (WHERE refreshes > 0) AS refreshed,
       count(*) FILTER (WHERE ended IS NULL OR lengthMs >= 86400000) AS lived_a_day,
       count(*) FILTER (WHERE ended IS NULL OR lengthMs >= 7 * 86400000) AS lived_a_week,
       count(*) FILTER (WHERE ended IS NOT NULL AND reason <> 'user') AS expired
FROM ends
WHERE NOT damaged
GROUP BY app
ORDER BY app;
