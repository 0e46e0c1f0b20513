// Package quota holds the pages and REST operations of quotas, usage and costs, with their bars and charts. It uses packages page and
// site only.
package quota
