DROP TABLE definition_texts;
DROP TABLE user_settings;
