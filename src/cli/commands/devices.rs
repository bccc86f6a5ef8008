//! `backissue device`: the devices that sync with this store.

use serde_json::json;

use crate::cli::Done;
use crate::cli::args_publish::{DeviceAction, DeviceArgs};
use crate::cli::commands::UNDO_HINT;
use crate::cli::context::{CommandContext, JsonList};
use crate::cli::session::Failure;
use crate::engine::feeds::unsubscribe;
use crate::engine::request::Request;
use crate::io::accounts::server::NO_FOLDER;
use crate::io::clock;
use crate::io::devices::device_file::DeviceFile;
use crate::io::devices::front;
use crate::io::devices::replies::{DeviceCall, seen_words};
use crate::io::system::system_words;

/// Runs `backissue device`.
pub(in crate::cli) fn run(context: &CommandContext, args: &DeviceArgs) -> Result<Done, Failure> {
    let file = || {
        let file = context.inspect(|engine| DeviceFile::of(&engine.settings))?;
        file.ok_or_else(|| Failure::new(NO_FOLDER))
    };
    match &args.action {
        DeviceAction::Add(device) => {
            let password = file()?.add(&device.name, clock::now()).map_err(Failure::new)?;
            context.put(&password);
            context.tell(&format!(
                "this is the password of user '{}', shown only now; 'backissue watch --serve 8086' serves the device",
                device.name
            ));
        }
        DeviceAction::List(args) => list(context, &file()?, args.json)?,
        DeviceAction::Remove(device) => {
            file()?.remove(&device.name).map_err(Failure::new)?;
            let (name, now) = (device.name.clone(), clock::now());
            context.change(Request::AnswerDevice(name.clone(), false))?;
            context.look(move |store| store.change_device::<()>(&name, now, |_| None))?;
            context.put(&format!("'{}' can sync no longer; what it changed stays", device.name));
        }
        DeviceAction::Undo(device) => {
            let undone = front::undo(context.handle(), &device.name).map_err(Failure::new)?;
            let Some(words) = undone else {
                context.tell("nothing to take back");
                return Ok(Done::All);
            };
            context.put(&format!("taken back: {words}"));
        }
        DeviceAction::Allow(device) => {
            let name = device.name.clone();
            let what = context.inspect(move |engine| unsubscribe::removals_held(engine, &name))?;
            let Some(what) = what else {
                context.tell("this device asks for nothing");
                return Ok(Done::All);
            };
            context.change(Request::AnswerDevice(device.name.clone(), true))?;
            context.put(&format!("done: {what}{UNDO_HINT}"));
        }
        DeviceAction::Answer => answer(context)?,
    }
    Ok(Done::All)
}

fn list(context: &CommandContext, file: &DeviceFile, in_json: bool) -> Result<(), Failure> {
    let devices = file.read().map_err(Failure::new)?;
    let records = context.look(|store| store.device_records())?;
    let mut document = in_json.then(|| JsonList::new(context));
    if devices.is_empty() && !in_json {
        context.tell("no devices: 'backissue device add phone' adds one");
    }
    for device in devices {
        let record = records.get(&device.name).cloned().unwrap_or_default();
        if let Some(list) = &mut document {
            list.push(&json!({
                "name": device.name,
                "added": device.added.to_rfc3339(),
                "last_seen": record.seen.map(|seen| seen.to_rfc3339()),
                "changes": record.steps.len(),
                "asks_to_remove": record.held,
            }));
        } else {
            let (seen, changes) = (seen_words(record.seen), record.steps.len());
            let changes = match changes {
                0 => String::new(),
                1 => format!("; 'backissue device undo {}' takes its change back", device.name),
                _ => format!(
                    "; {changes} changes, 'backissue device undo {}' takes the last one back",
                    device.name
                ),
            };
            context.put(&format!("{}  {seen}{changes}", device.name));
            let name = device.name.clone();
            let asked = context.inspect(move |engine| unsubscribe::removals_held(engine, &name))?;
            if let Some(what) = asked {
                context.put(&format!(
                    "  asks to {what}: 'backissue device allow {0}' does it, 'backissue device undo {0}' refuses",
                    device.name
                ));
            }
        }
    }
    if let Some(list) = document {
        list.end();
    }
    Ok(())
}

/// Answers a request that another process received.
fn answer(context: &CommandContext) -> Result<(), Failure> {
    let bytes = context.read_file("-");
    let bytes = bytes.map_err(|error| Failure::new(system_words(&error)))?;
    let call: DeviceCall = serde_json::from_slice(&bytes)
        .map_err(|_| Failure::new("that is no request of a device"))?;
    let reply = front::reply(context.handle(), &call)?;
    context.put(&serde_json::to_string(&reply).unwrap_or_default());
    Ok(())
}
