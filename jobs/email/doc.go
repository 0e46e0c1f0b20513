// Package email sends notifications, and emails about addresses, to people by SMTP: from the queue in the database, each at least once, under one Message-ID.
package email
