-- Which version's refreshes fail more?
SELECT app,
       count(*) AS refreshes,
       count(*) FILTER (WHERE outcome = 'lost') AS lost,
       count(*) FILTER (WHERE outcome = 'failed') AS failed,
       round(100.0 * count(*) FILTER (WHERE outcome IN ('lost', 'failed')) / count(*), 2) AS percent
FROM refreshes
WHERE NOT damaged
GROUP BY app
ORDER BY percent DESC, app;
