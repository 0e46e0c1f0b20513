// Package usage reports what clusters used and what it cost, estimates what is to come, and warns when a budget runs
// out. It uses app/cluster, app/operation and app/policy.
package usage
