// What uses the models of a job.
#include "cli/program/program.hpp"

namespace tuneband::cli {

namespace {

// A file of that name is a model; else it is a job's.
void add_predict(CLI::App& app, Command& chosen, Arguments& arguments) {
  PredictOptions& options = arguments.predict;
  const auto with_job =
      with_server(arguments, [&](Session session) { return cli::predict(&session.api, session.console, options); });
  const auto with_model = [&options, with_job](Console& console) -> Finished {
    const auto file = names_model_file(options);
    if (!file) return file.error();
    return *file ? cli::predict(nullptr, console, options) : with_job(console);
  };
  auto* predict = add_command(app, chosen, "predict", "What the model of a job's best trial says of new rows, as CSV",
                              without_json("CSV", with_model));
  predict->add_option("JOB", options.from, "The job's name or number, or a model file")->required();
  predict
      ->add_option("DATA", options.data,
                   "CSV with the columns of the features, or LibSVM as the model was trained on; -: standard input")
      ->required()
      ->check([](const std::string& path) { return path == "-" ? std::string() : CLI::ExistingFile(path); })
      ->type_name("FILE");
  predict->add_option("--trial", options.trial, "The model of this trial instead of the best one's")
      ->check(command_line::whole_number_between(0, kTrialsMax))
      ->type_name("TRIAL");
  predict->add_option("-o,--output", options.output, "Write this file instead of standard output")->type_name("FILE");
  predict
      ->add_option("--delimiter", options.delimiter,
                   "Between the cells of a line; \\t is a tab; default: as in the training file")
      ->type_name("C");
  auto* header = predict->add_flag_callback(
      "--header", [&options] { options.header = true; }, "The first line is a header; default: as in the training file");
  predict
      ->add_flag_callback(
          "--no-header", [&options] { options.header = false; }, "The first line is a row; columns stand as in the training file")
      ->excludes(header);
}

void add_ensemble(CLI::App& app, Command& chosen, Arguments& arguments) {
  EnsembleOptions& options = arguments.ensemble;
  auto* ensemble = add_command(app, chosen, "ensemble", "Join the models of a job's best trials into one, which is often better",
                               with_server(arguments, [&](Session session) { return join_models(session, options); }));
  add_job(ensemble, options.job);
  ensemble->add_flag("--refit", options.models.refit, kRefitHelp);
  ensemble
      ->add_option("--models", options.models.models,
                   "Of so many of the best trials at most; default: 24. 1: the best one's alone")
      ->check(command_line::whole_number_between(1, kTrialsMax))
      ->type_name("N");
  ensemble->add_option("-o,--output", options.output, "Write this file; default: JOB-ensemble.ubj")->type_name("FILE");
}

}  // namespace

void add_model_commands(CLI::App& app, Command& chosen, Arguments& arguments) {
  add_predict(app, chosen, arguments);
  add_ensemble(app, chosen, arguments);
}

}  // namespace tuneband::cli
