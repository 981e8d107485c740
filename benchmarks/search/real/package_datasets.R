# Real data sets that come with Debian's packages of R, as files that bench_live --packages DIR reads (package_datasets.cpp):
#   Rscript package_datasets.R DIR [second]
# DIR/index.json says what each is; of NAME.csv column `label` is a number, the other columns are as they are; ordered categories
# are numbers. Of more than 6,000 rows a sample. `second`: other data sets, which nothing was chosen or tried on before.
binary <- "binary:logistic"
number <- "reg:squarederror"
classes <- "multi:softprob"
first <- list(
  spam            = list("kernlab", "e-mails by the frequency of words", binary, "logloss",
                         function(x) list(x$type == "spam", "type")),
  ticdata         = list("kernlab", "who has a caravan insurance, one in 17", binary, "auc",
                         function(x) list(x$CARAVAN == "insurance", "CARAVAN")),
  credit_data     = list("modeldata", "who pays back a credit", binary, "auc",
                         function(x) list(x$Status == "bad", "Status")),
  mlc_churn       = list("modeldata", "who leaves a telephone company", binary, "logloss",
                         function(x) list(x$churn == "yes", "churn")),
  wa_churn        = list("modeldata", "who leaves another one", binary, "auc",
                         function(x) list(x$churn == "Yes", "churn")),
  cells           = list("modeldata", "pictures of cells that are well segmented", binary, "auc",
                         function(x) list(x$class == "PS", c("class", "case"))),
  stackoverflow   = list("modeldata", "programmers who work remotely, one in ten", binary, "aucpr",
                         function(x) list(x$Remote == "Remote", "Remote")),
  lending_club    = list("modeldata", "loans that go bad, one in 20", binary, "auc",
                         function(x) list(x$Class == "bad", "Class")),
  HealthInsurance = list("AER", "who has a health insurance", binary, "logloss",
                         function(x) list(x$insurance == "yes", "insurance")),
  HMDA            = list("AER", "who is denied a mortgage", binary, "logloss",
                         function(x) list(x$deny == "yes", "deny")),
  ames            = list("modeldata", "prices of houses, logarithm", number, "rmse",
                         function(x) list(log(x$Sale_Price), "Sale_Price")),
  diamonds        = list("ggplot2", "prices of diamonds, logarithm", number, "rmse",
                         function(x) list(log(x$price), "price")),
  Chicago         = list("modeldata", "passengers of a station", number, "mae",
                         function(x) list(x$ridership, c("ridership", "date"))),
  check_times     = list("modeldata", "seconds that checks of packages take, logarithm", number, "rmse",
                         function(x) list(log(x$check_time), c("check_time", "package"))),
  CPS1988         = list("AER", "wages, logarithm", number, "rmse", function(x) list(log(x$wage), "wage")),
  DoctorVisits    = list("AER", "visits to a doctor in two weeks", "count:poisson", "poisson-nloglik",
                         function(x) list(x$visits, "visits")),
  Satellite       = list("mlbench", "soils in pictures of a satellite", classes, "mlogloss",
                         function(x) list(as.integer(x$classes) - 1L, "classes")),
  DNA             = list("mlbench", "borders of exons", classes, "merror",
                         function(x) list(as.integer(x$Class) - 1L, "Class")),
  hpc_data        = list("modeldata", "how long jobs take, in four classes", classes, "mlogloss",
                         function(x) list(as.integer(x$class) - 1L, "class")))

second <- list(
  attrition       = list("modeldata", "who leaves a company", binary, "auc",
                         function(x) list(x$Attrition == "Yes", "Attrition")),
  ResumeNames     = list("AER", "who is called back, one in twelve", binary, "aucpr",
                         function(x) list(x$call == "yes", c("call", "name"))),
  SmokeBan        = list("AER", "who smokes", binary, "logloss", function(x) list(x$smoker == "yes", "smoker")),
  Fertility2      = list("AER", "who has a third child", binary, "auc",
                         function(x) list(x$morekids == "yes", "morekids")),
  flchain         = list("survival", "who dies within the study", binary, "logloss",
                         function(x) list(x$death, c("death", "futime", "chapter"))),
  nwtco           = list("survival", "whose tumour comes back", binary, "auc",
                         function(x) list(x$rel, c("rel", "edrel", "seqno"))),
  Aids2           = list("MASS", "who is alive at the end", binary, "logloss",
                         function(x) list(x$status == "A", c("status", "death"))),
  income          = list("kernlab", "the class of an income, of nine", number, "rmse",
                         function(x) list(as.integer(x$INCOME), "INCOME")),
  concrete        = list("modeldata", "the strength of concrete", number, "rmse",
                         function(x) list(x$compressive_strength, "compressive_strength")),
  Sacramento      = list("modeldata", "prices of houses, logarithm", number, "rmse",
                         function(x) list(log(x$price), "price")),
  CollegeDistance = list("AER", "years of education", number, "rmse", function(x) list(x$education, "education")),
  PSID7682        = list("AER", "wages, logarithm", number, "mae", function(x) list(log(x$wage), c("wage", "id"))),
  MathAchieve     = list("nlme", "points in mathematics", number, "rmse",
                         function(x) list(x$MathAch, c("MathAch", "School"))),
  txhousing       = list("ggplot2", "median prices of houses, logarithm", number, "rmse",
                         function(x) list(log(x$median), c("median", "volume", "date"))),
  NMES1988        = list("AER", "visits to a doctor", "count:poisson", "poisson-nloglik",
                         function(x) list(x$visits, "visits")),
  Vowel           = list("mlbench", "vowels by their sound", classes, "mlogloss",
                         function(x) list(as.integer(x$Class) - 1L, "Class")),
  Vehicle         = list("mlbench", "vehicles by their outline", classes, "mlogloss",
                         function(x) list(as.integer(x$Class) - 1L, "Class")),
  hpc_cv          = list("modeldata", "classes by the votes of a model", classes, "mlogloss",
                         function(x) list(as.integer(x$obs) - 1L, c("obs", "pred", "Resample"))))

arguments <- commandArgs(trailingOnly = TRUE)
if (!(length(arguments) == 1 || (length(arguments) == 2 && arguments[[2]] == "second")))
  stop("usage: Rscript package_datasets.R DIR [second]")
out <- arguments[[1]]
datasets <- if (length(arguments) == 2) second else first
dir.create(out, showWarnings = FALSE, recursive = TRUE)
index <- character()
for (name in names(datasets)) {
  spec <- datasets[[name]]
  data(list = name, package = spec[[1]])
  rows <- as.data.frame(get(name))
  label <- spec[[5]](rows)
  rows <- rows[, !(names(rows) %in% label[[2]])]
  rows[] <- lapply(rows, function(column) if (is.ordered(column) || is.logical(column)) as.integer(column) else column)
  known <- which(!is.na(label[[1]]))
  set.seed(1)
  order <- known[sample(length(known), min(length(known), 6000))]
  table <- cbind(label = as.numeric(label[[1]]), rows)[order, ]
  write.csv(table, file.path(out, paste0(name, ".csv")), row.names = FALSE, na = "")
  count <- if (spec[[3]] == classes) max(label[[1]][order]) + 1L else 0L
  index <- c(index, sprintf('{"name": "%s", "about": "%s", "objective": "%s", "metric": "%s", "classes": %d}',
                            name, spec[[2]], spec[[3]], spec[[4]], count))
}
writeLines(c("[", paste(index, collapse = ",\n"), "]"), file.path(out, "index.json"))
