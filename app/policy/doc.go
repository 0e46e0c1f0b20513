// Package policy decides what may be requested: policies, which can refuse or change a request or ask for approval, and
// quotas. It also keeps how long steps usually take. Expressions are evaluated by package cel below it. It uses no
// other domain.
package policy
