DROP TABLE layover.trigger_events;
DROP TABLE layover.trigger_inputs;
DROP TABLE layover.triggers;
