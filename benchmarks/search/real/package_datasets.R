# Real data sets that come with Debian's packages of R, as files that bench_live --packages DIR reads (package_datasets.cpp):
#   Rscript package_datasets.R DIR
# Column `label` is a number, the other columns as they are; ordered categories are numbers. Of more than 6,000 rows a sample.
datasets <- list(
  spam          = list("kernlab",   function(x) list(x$type == "spam", "type")),
  ticdata       = list("kernlab",   function(x) list(x$CARAVAN == "insurance", "CARAVAN")),
  credit_data   = list("modeldata", function(x) list(x$Status == "bad", "Status")),
  mlc_churn     = list("modeldata", function(x) list(x$churn == "yes", "churn")),
  wa_churn      = list("modeldata", function(x) list(x$churn == "Yes", "churn")),
  cells         = list("modeldata", function(x) list(x$class == "PS", c("class", "case"))),
  stackoverflow = list("modeldata", function(x) list(x$Remote == "Remote", "Remote")),
  lending_club  = list("modeldata", function(x) list(x$Class == "bad", "Class")),
  HealthInsurance = list("AER",     function(x) list(x$insurance == "yes", "insurance")),
  HMDA          = list("AER",       function(x) list(x$deny == "yes", "deny")),
  ames          = list("modeldata", function(x) list(log(x$Sale_Price), "Sale_Price")),
  diamonds      = list("ggplot2",   function(x) list(log(x$price), "price")),
  Chicago       = list("modeldata", function(x) list(x$ridership, c("ridership", "date"))),
  check_times   = list("modeldata", function(x) list(log(x$check_time), c("check_time", "package"))),
  CPS1988       = list("AER",       function(x) list(log(x$wage), "wage")),
  DoctorVisits  = list("AER",       function(x) list(x$visits, "visits")),
  Satellite     = list("mlbench",   function(x) list(as.integer(x$classes) - 1L, "classes")),
  DNA           = list("mlbench",   function(x) list(as.integer(x$Class) - 1L, "Class")),
  hpc_data      = list("modeldata", function(x) list(as.integer(x$class) - 1L, "class")))

out <- commandArgs(trailingOnly = TRUE)
if (length(out) != 1) stop("usage: Rscript package_datasets.R DIR")
dir.create(out, showWarnings = FALSE, recursive = TRUE)
for (name in names(datasets)) {
  spec <- datasets[[name]]
  data(list = name, package = spec[[1]])
  rows <- as.data.frame(get(name))
  label <- spec[[2]](rows)
  rows <- rows[, !(names(rows) %in% label[[2]])]
  rows[] <- lapply(rows, function(column) if (is.ordered(column) || is.logical(column)) as.integer(column) else column)
  set.seed(1)
  order <- sample(nrow(rows), min(nrow(rows), 6000))
  write.csv(cbind(label = as.numeric(label[[1]]), rows)[order, ], file.path(out, paste0(name, ".csv")), row.names = FALSE, na = "")
}
