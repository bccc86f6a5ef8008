//! Data folders in unusual places, and data folders that go away.

mod gone_folder;
mod odd_folders;
