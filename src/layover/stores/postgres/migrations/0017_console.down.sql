DROP TABLE layover.definition_texts;
DROP TABLE layover.user_settings;
