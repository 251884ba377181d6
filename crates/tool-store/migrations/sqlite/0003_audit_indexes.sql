-- Of each index one page at least is written for each row. This one serves `AuditFilter::tool` alone, which nothing in the SDK asks for: such a
-- list is read from `audit_by_time` in order, and stops at its limit.
DROP INDEX audit_by_tool;
