// Package providertest is the suite that every member of the providers family passes. A member's test fills in a
// Harness and calls Run; what the suite checks is what app.Provider promises.
package providertest
