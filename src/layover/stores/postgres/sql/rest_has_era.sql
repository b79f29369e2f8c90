SELECT EXISTS (SELECT FROM layover.events_rest WHERE era = $1::integer)
