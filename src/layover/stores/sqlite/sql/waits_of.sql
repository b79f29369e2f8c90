SELECT w.name, w.key, w.point FROM pause_points AS p JOIN waits AS w ON w.point = p.id WHERE p.execution_id = :id
