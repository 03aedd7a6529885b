-- How long do refreshes take, day by day? The 95th percentile is the nearest rank.
SELECT strftime(time, '%Y-%m-%d') AS day,
       count(*) AS refreshes,
       quantile_disc(durationMs, 0.95) AS p95
FROM refreshes
WHERE outcome = 'succeeded' AND NOT damaged
GROUP BY day
ORDER BY day;
