// Package chat keeps workspaces, channels and links of chats, and what they are still to be told. It uses identity for accounts.
package chat
