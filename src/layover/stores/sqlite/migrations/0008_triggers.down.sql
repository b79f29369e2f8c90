DROP TABLE trigger_events;
DROP TABLE trigger_inputs;
DROP TABLE triggers;
