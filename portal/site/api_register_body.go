package site

const MediaJSON = "application/json"
