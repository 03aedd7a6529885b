-- Which share of the ends has which cause, for each version?
SELECT app,
       cause,
       count(*) AS ends,
       round(100.0 * count(*) / sum(count(*)) OVER (PARTITION BY app), 1) AS percent
FROM ends
WHERE ended IS NOT NULL AND NOT damaged
GROUP BY app, cause
ORDER BY app, ends DESC, cause;
