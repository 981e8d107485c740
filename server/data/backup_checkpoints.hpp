// Checkpoints in a backup: a database as of one moment, files as of later ones, and trials that go on meanwhile.
#pragma once

#include "db/connection.hpp"
#include "server/data/data_dir.hpp"
#include "server/data/tree_copy.hpp"

namespace tuneband::server {

// A row of the copied database that names a checkpoint has it in `files`, whole and of what the row says; else its trial begins
// from nothing in the copy. So it is when the checkpoint was written to while it was copied, when the trial stored a later one
// since, which may have taken the place of the row's, and when the trial was cut or deleted. Gives the number of those trials.
//
// What a worker has stored and not yet told the server counts as not yet stored, as it does when that worker is killed.
int settle_checkpoints(const DataDir& source, Connection& original, Connection& copy, TreeCopy& files);

}  // namespace tuneband::server
