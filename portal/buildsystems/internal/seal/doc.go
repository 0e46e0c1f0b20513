// Package seal verifies signatures of deliveries: the HMACs of each system, and Standard Webhooks, which several share.
// Every comparison takes constant time and tries every secret. Errors are EUnauthorized for a signature that is
// missing, wrong or too old, and EInvalid for invalid headers.
package seal
