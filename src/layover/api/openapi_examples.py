"""Examples of bodies for the document: by the struct that they become, unless a route has its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from layover.model import (
    access,
    batches,
    deliveries,
    deploy_plans,
    executions,
    forks,
    people,
    points,
    scheduled_retries,
    shared,
    signals,
    triggers,
    user_settings,
    views,
    workflows,
)

if TYPE_CHECKING:
    from layover.api.routing import Route

DEFINITION: Final[dict[str, Any]] = {
    "name": "order",
    "description": "Above a hundred, a person looks at it first.",
    "nodes": [
        {"id": "worth", "type": "condition", "if": "input.amount > 100"},
        {"id": "review", "type": "approval", "title": "Order of ${input.amount}", "approvers": {"roles": ["finance"]}},
        {"id": "pay", "type": "http", "method": "POST", "url": "https://pay.example.com/charges"},
        {"id": "refused", "type": "end", "outcome": "refused"},
    ],
    "settings": {"max_pause": "30d"},
    "edges": [
        {"from": "worth", "port": "true", "to": "review"},
        {"from": "worth", "port": "false", "to": "pay"},
        {"from": "review", "port": "approved", "to": "pay"},
        {"from": "review", "port": "rejected", "to": "refused"},
    ],
}

EXAMPLES: Final[dict[type[Any], dict[str, Any]]] = {
    shared.EmptyBody: {"nothing": {}},
    shared.ReasonBody: {"with_a_reason": {"reason": "Waiting for the new price list"}, "without": {}},
    executions.StartBody: {
        "start": {"workflow": "order", "input": {"amount": 250}},
        "later_and_important": {
            "workflow": "order",
            "input": {"amount": 250},
            "tags": ["web"],
            "priority": 10,
            "delay": "1h30m",
            "correlation_id": "cart-4711",
        },
        "wait_for_it": {"workflow": "order", "input": {"amount": 50}, "wait": "10s"},
    },
    executions.PauseBody: {
        "with_a_reason": {"reason": "Waiting for the new price list"},
        "until_monday": {"until_cron": "0 8 * * MON", "zone": "Europe/Berlin"},
    },
    workflows.ResumeWorkflowBody: {"in_the_morning": {"cron": "0 8 * * MON-FRI", "zone": "Europe/Berlin"}},
    executions.ResumeBody: {"with_data": {"resume_data": {"price_list": "2026-03"}, "reason": "The list is there"}},
    deploy_plans.MoveBody: {
        "renamed": {"version": 2, "map": {"review": "check"}, "reason": "The form was wrong"},
    },
    executions.RewindBody: {"back_to_a_node": {"to": "review", "reason": "It was the wrong amount"}},
    points.AnswerBody: {
        "form": {"data": {"quantity": 3}},
        "approval": {"approved": True, "comment": "Fine by me"},
    },
    points.DecisionBody: {"with_a_comment": {"comment": "Fine by me"}},
    points.DelegateBody: {"to_a_colleague": {"to": "ben"}},
    points.LinkBody: {"for_two_days": {"user": "ben", "expires_in": "2d"}},
    points.ClaimBody: {"from_another_person": {"take": True}},
    forks.ForkBody: {
        "from_a_node": {"from": "review", "reason": "With another limit"},
        "after_an_event": {"from": 12, "input": {"amount": 90}, "version": 3},
    },
    executions.RetryBody: {
        "with_a_reason": {"reason": "The bank is up again"},
        "what_it_would_do": {"dry_run": True},
    },
    scheduled_retries.RunNowBody: {"a_delay": {"context_id": "review", "reason": "The customer waits"}},
    scheduled_retries.CancelRetryBody: {"of_a_node": {"context_id": "review", "reason": "The shop is closed"}},
    points.AskBackBody: {"to_the_requester": {"question": "Which cost centre is it?"}},
    points.ReplyBody: {"to_the_oldest_question": {"text": "4711"}},
    points.ResumePointBody: {
        "form": {"input": {"quantity": 3}},
        "approval": {"approved": False, "comment": "Too expensive"},
    },
    signals.SignalBody: {"signal": {"name": "payment.settled", "key": "order-17", "data": {"amount": 250}}},
    signals.CallbackFailure: {"failure": {"message": "The printer is out of paper", "retryable": True}},
    workflows.DryRunBody: {
        "approved": {"input": {"amount": 250}, "outputs": {"pay": {"id": "ch_1"}}, "answers": {"review": True}}
    },
    workflows.TextDryRunBody: {
        "approved": {
            "definition": "name: order\nnodes:\n  - {id: review, type: approval, title: Pay it?}\n",
            "input": {"amount": 250},
            "answers": {"review": True},
        }
    },
    workflows.PauseWorkflowBody: {"running_ones_too": {"reason": "The shop is closed", "running": True}},
    workflows.BundleBody: {"one_workflow": {"format": "layover/1", "workflows": [DEFINITION]}},
    triggers.TriggerPauseBody: {"with_a_reason": {"reason": "Holidays"}},
    triggers.TriggerResumeBody: {"with_what_was_missed": {"catch_up": True}},
    triggers.TriggerRewindBody: {
        "to_an_item": {"cursor": "2026-03-01T08:00:00Z/1042"},
        "to_the_beginning": {"cursor": None},
    },
    triggers.FireBody: {"try_it": {"data": {"day": "2026-03-01"}, "id": "by-hand-1", "dry_run": True}},
    triggers.BackfillBody: {"a_month": {"from": "2026-01-01", "to": "2026-02-01", "dry_run": True}},
    triggers.ReplayBody: {"the_newest_ten": {"where": {"limit": 10}}},
    triggers.RotateTokenBody: {"with_time_to_change_over": {"grace": "1h"}},
    deliveries.UpdateDestinationBody: {
        "another_address": {"kind": "webhook", "address": "https://erp.example/new-hook", "secret": "ERP_HOOK"}
    },
    deliveries.DestinationBody: {
        "webhook": {"name": "erp", "kind": "webhook", "address": "https://erp.example/hook", "secret": "ERP_HOOK"},
        "chat": {"name": "ops-chat", "kind": "chat", "address": {"secret": "OPS_CHAT"}},
        "mail": {
            "name": "mail",
            "kind": "mail",
            "address": "smtps://smtp.example.com:465",
            "user": "layover",
            "secret": "SMTP_PASSWORD",
            "from": "layover@example.com",
        },
    },
    deliveries.DisableBody: {"with_a_reason": {"reason": "The server moves"}},
    deliveries.SendTestBody: {"mail": {"to": "ada@example.com"}},
    batches.BatchBody: {
        "how_many": {"act": "retry", "where": {"workflow": "order", "status": ["failed"]}, "dry_run": True},
        "with_a_canary": {
            "act": "retry",
            "where": {"workflow": "order", "status": ["failed"]},
            "with": {"reason": "The bank is up again"},
            "rate": "50/s",
            "canary": {"share": "5%", "watch": "10m"},
        },
    },
    batches.StopBatchBody: {"with_a_reason": {"reason": "The server moves"}},
    deliveries.RedeliverBody: {"the_dead_ones": {"where": {"state": "dead", "destination": "ops-chat"}}},
    people.PersonBody: {
        "with_an_address": {"roles": ["finance"], "addresses": {"mail": "ada@example.com"}, "zone": "Europe/Berlin"},
        "away": {"addresses": {"mail": "ada@example.com"}, "away": {"until": "2027-01-07", "substitute": "ben"}},
    },
    views.ViewBody: {"failed_lately": {"filter": {"status": ["failed"], "min_resumes": 1, "since": "2d"}}},
    user_settings.UserSettingsBody: {"dark_in_utc": {"theme": "dark", "zone": "utc", "landing": "executions"}},
    access.SignInLinkBody: {"for_an_approver": {"user": "ada", "roles": ["approver"], "expires_in": "1h"}},
    access.SessionBody: {"with_a_key": {"key": "lay_Vk2f0sVq1yZ8mH3cT6wXbANx5e7Rj9-uPq_D4LgKtB0"}},
    access.KeyBody: {
        "for_a_job": {"name": "nightly import", "user": "importer", "roles": ["operator"], "expires_in": "90d"}
    },
    access.RotateBody: {"with_time_to_change_over": {"grace": "1h"}},
}

# Bodies that are free JSON, by the name of their operation.
FREE: Final[dict[str, dict[str, Any]]] = {
    "call_back": {"output": {"printed": True, "pages": 3}},
    "take_delivery_by_token": {"paid": {"type": "invoice.paid", "id": "in_17"}},
    "take_delivery": {"paid": {"type": "invoice.paid", "id": "in_17"}},
}


def examples_of(route: Route) -> dict[str, object]:
    """Return the bodies that a route shows."""
    if route.body is None:
        return {}
    return route.examples or EXAMPLES.get(route.body) or FREE.get(route.name, {})
