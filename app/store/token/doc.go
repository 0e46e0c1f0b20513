// Package token keeps API tokens. It uses package user, since a token acts as a user.
package token
