// Package email sends notifications to people by SMTP: from the queue in the database, each at least once, under one Message-ID.
package email
