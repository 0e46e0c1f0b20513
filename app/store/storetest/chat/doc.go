// Package chat has the cases of every store about chats: workspaces, linked people, cards, threads and homes. It uses kit.
package chat
