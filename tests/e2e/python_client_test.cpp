// clients/python/tuneband.py against a server that trains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/random.hpp"
#include "core/text.hpp"
#include "tests/e2e/python_script.hpp"
#include "tests/e2e/running_server.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::test {
namespace {

using testing::HasSubstr;

class PythonClient : public testing::Test {
 protected:
  PythonClient() {
    std::ofstream file(directory_ / "table.csv");
    file << "a,b,y\n";
    for (std::uint64_t row = 0; row < 300; ++row) {
      const double a = random_unit(3, {row, 0});
      file << format_number(a) << ',' << format_number(random_unit(3, {row, 1})) << ',' << (a > random_unit(3, {row, 2}) ? 1 : 0)
           << '\n';
    }
    std::ofstream(directory_ / "job.json") << R"({
      "name": "of-python", "objective": {"metric": "validation-auc", "goal": "maximize"},
      "search_space": {"eta": {"type": "float", "min": 0.05, "max": 1}},
      "trainer": {"type": "xgboost", "data": {"train": "table.csv", "label": "y"},
                  "parameters": {"objective": "binary:logistic"}},
      "scheduler": {"max_resource": 9}, "limits": {"max_trials": 5}})";
  }

  std::string python(const std::string& script) {
    const std::string head = "import json, tuneband\nserver = tuneband.Server('" + server_.url() + "')\n";
    return run_python(directory_ / "script.py", head + script);
  }

  TemporaryDirectory directory_;
  RunningServer server_{directory_ / "data", 1};
};

TEST_F(PythonClient, SubmitsWaitsAndReadsWhatWasFound) {
  EXPECT_EQ(python("job = server.submit('" + (directory_ / "job.json") + "')\n" + R"(
seen = []
info = job.wait(lambda info: seen.append(info['state']))
print(info['state'], 'running' in seen, job.plan['ladder'][-1])
best = job.best()
rows = job.rows()
print(len(rows), sorted(rows[0]), max(row['value'] for row in rows) == info['best']['value'])
number = best['trial']['number']
print(b'tuneband_ensemble' in job.ensemble())
print(job.model() == open(best['model'], 'rb').read(), len(job.curve(number)) > 0, b'trial' in job.log(number))
print(job.explain(0)[0][:20])
print([one['name'] for one in server.jobs()], server.job('of-python').number == job.number, len(server.workers()))
print(len(job.trials(state='completed,stopped', sort='objective')))
print(job.request('GET', 'trials/1')['number'], server.request('GET', 'v1/jobs/1')['id'])
job.delete()
print(server.jobs())
)"),
            "completed True 9\n5 ['eta', 'resource', 'state', 'training_seconds', 'trial', 'value'] True\nTrue\nTrue True "
            "True\nRung 0 of bracket 0 \n"
            "['of-python'] True 1\n5\n1 1\n[]\n");
}

TEST(PythonRows, KeepTheirOwnColumnsWhereAParameterHasTheSameName) {
  TemporaryDirectory directory;
  EXPECT_EQ(run_python(directory / "rows.py", R"(
import tuneband
job = tuneband.Job.__new__(tuneband.Job)
job.info = lambda: {'more_objectives': [], 'constraints': []}
job.trials = lambda: [{'number': 3, 'state': 'completed', 'kept_value': None, 'objective': 0.5, 'resource': 9,
                       'training_seconds': 1, 'more_objectives': [], 'configuration': {'value': 'y', 'eta': 0.1}}]
print(job.rows())
)"),
            "[{'trial': 3, 'state': 'completed', 'value': 0.5, 'resource': 9, 'training_seconds': 1, 'parameter.value': 'y', "
            "'eta': 0.1}]\n");
}

// A server that gives such replies, one a connection.
constexpr const char* kBreakingServer = R"(
import json, socket, threading, tuneband
tuneband.time.sleep = lambda seconds: None
def answer(body, status='200 OK', size=None):
    return b'HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n' % (status.encode(), size or len(body)) + body
stream = b'HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
event = b'event: job\ndata: {"state": "running"}\n\n'
def job(state):
    return answer(json.dumps({'id': 1, 'state': state}).encode())
def serve(replies):
    listener = socket.create_server(('127.0.0.1', 0))
    def run():
        for reply in replies:
            connection, _ = listener.accept()
            while b'\r\n\r\n' not in connection.recv(65536): pass
            connection.sendall(reply)
            connection.close()
    threading.Thread(target=run, daemon=True).start()
    return tuneband.Job(tuneband.Server('http://127.0.0.1:%d' % listener.getsockname()[1]), 1)
def waited(*replies):
    seen = []
    return serve([job('running'), *replies, job('completed')]).wait(lambda info: seen.append(info['state']))['state'], seen
)";

TEST(PythonWait, GoesOnAfterAConnectionThatBreaksWhereverThatIs) {
  TemporaryDirectory directory;
  EXPECT_EQ(run_python(directory / "wait.py", std::string(kBreakingServer) + R"(
print(waited(stream + b'%x\r\n' % len(event) + event + b'\r\n' + b'ff\r\nevent: jo'))
print(waited(b'HTTP/1.1 200 OK\r\nConte'))
print(waited(b'nothing of the kind\r\n\r\n'))
print(waited(answer(b'{"id"', size=50)))
print(waited(answer(b'{"error": "of a proxy"}', '502 Bad Gateway')))
print(waited(answer(b'{"error": {"code": "unavailable", "message": "the server ends"}}', '503 Service Unavailable')))
)"),
            "('completed', ['running'])\n('completed', [])\n('completed', [])\n('completed', [])\n('completed', [])\n"
            "('completed', [])\n");
}

TEST(PythonWait, HandsOnWhatProgressRaises) {
  TemporaryDirectory directory;
  EXPECT_EQ(run_python(directory / "wait.py", std::string(kBreakingServer) + R"(
def progress(info):
    raise FileNotFoundError('of the caller')
try:
    serve([job('running'), stream + b'%x\r\n' % len(event) + event + b'\r\n0\r\n\r\n', job('completed')]).wait(progress)
except FileNotFoundError as error:
    print(error)
)"),
            "of the caller\n");
}

TEST(PythonErrors, ThatAreOfTheConnectionAreOneKindAndThoseOfAProxyAreRefusals) {
  TemporaryDirectory directory;
  EXPECT_EQ(run_python(directory / "errors.py", std::string(kBreakingServer) + R"(
for reply in answer(b'{"id"', size=50), b'nothing of the kind\r\n\r\n', answer(b'{"error": "text"}', '502 Bad Gateway'):
    try:
        serve([reply]).info()
    except ConnectionError as error:
        print('lost')
    except tuneband.Refused as error:
        print(error.status, error)
)"),
            "lost\nlost\n502 HTTP Error 502: Bad Gateway\n");
}

TEST(PythonErrors, ADocumentThatContainsItselfIsToldByThePlaceAtWhichItDoes) {
  TemporaryDirectory directory;
  EXPECT_EQ(run_python(directory / "document.py", R"(
import tuneband
values = [1]
document = {'name': 'x', 'twice': [values, values]}
for circle in document, values:
    values[0] = circle
    try:
        tuneband.Server('http://127.0.0.1:1').submit(document)
    except ValueError as error:
        print(error)
)"),
            "twice[0][0]: expected a value that JSON has, got the dict that it is in\n"
            "twice[0][0]: expected a value that JSON has, got the list that it is in\n");
}

TEST(PythonStudy, EndsForEachOfItsThreadsWhicheverTakesItsDirectoryAway) {
  TemporaryDirectory directory;
  EXPECT_EQ(run_python(directory / "threads.py", R"(
import os, tuneband
place = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'meeting')
os.mkdir(place)
listdir = os.listdir
def listed_and_taken_away(path):
    names = listdir(path)
    os.rmdir(path)
    return names
os.listdir = listed_and_taken_away
study = tuneband.Study.__new__(tuneband.Study)
study._meeting_place = place
study._state = lambda: 'completed'
print(study.ask(seconds=0))
)"),
            "None\n");
}

TEST(PythonServer, IsThatOfTheCommandLineUnlessOneIsNamed) {
  TemporaryDirectory directory;
  EXPECT_EQ(run_python(directory / "server.py", R"(
import os, tuneband
os.environ.pop('TUNEBAND_SERVER', None)
print(tuneband.Server().url)
os.environ['TUNEBAND_SERVER'] = 'http://of.all:1/'
print(tuneband.Server().url, tuneband.Server('http://of.one:2/').url)
)"),
            "http://127.0.0.1:7070\nhttp://of.all:1 http://of.one:2\n");
}

TEST(PythonProxy, IsAskedForOtherHostsAndNeverForLoopback) {
  TemporaryDirectory directory;
  EXPECT_EQ(run_python(directory / "proxy.py", std::string(kBreakingServer) + R"(
import os, tuneband_debugger
os.environ['no_proxy'] = ''
os.environ['http_proxy'] = serve([answer(b'"the proxy"')] * 3).server.url
port = serve([answer(b'"the server"')] * 4).server.url.rpartition(':')[2]
for host in '127.0.0.1', 'LocalHost', 'elsewhere.invalid':
    url = 'http://%s:%s' % (host, port)
    print(host, tuneband.Server(url).request('GET', '/'), tuneband_debugger.Trial(url, 'job', 0)._json(''))
try:
    print(tuneband.Server('http://[::1]:1').request('GET', '/'))
except ConnectionError:
    print('nobody')
)"),
            "127.0.0.1 the server the server\nLocalHost the server the server\nelsewhere.invalid the proxy the proxy\n"
            "nobody\n");
}

// What reads the answer takes JSON, which has none of these numbers.
TEST(PythonRule, TellsAValueThatIsNoNumber) {
  TemporaryDirectory directory;
  EXPECT_EQ(run_python(directory / "rule.py", R"(
import io, json, math, tuneband_debugger
class Diverged(tuneband_debugger.Rule):
    def invoke_at_step(self, step):
        self.finding = {'tensor': 'losses/train', 'value': math.nan, 'threshold': -math.inf, 'message': 'it diverged'}
        return step == 4
answers = io.StringIO()
steps = [json.dumps({'step': step, 'tensors': {'losses/train': {'mean': 1}}}) for step in (3, 4, 5)]
print(Diverged.serve(steps, answers), answers.getvalue().strip())
)"),
            "4 {\"step\": 4, \"tensor\": \"losses/train\", \"value\": \"nan\", \"threshold\": \"-inf\", \"message\": \"it "
            "diverged\"}\n");
}

TEST(PythonRule, TellsNumbersOfNumPyAsThoseOfPython) {
  TemporaryDirectory directory;
  EXPECT_EQ(run_python(directory / "rule.py", R"(
import io, json, numpy, tuneband_debugger
class Rises(tuneband_debugger.Rule):
    def invoke_at_step(self, step):
        self.finding = {'tensor': 'losses/train', 'value': numpy.float32(0.5), 'threshold': numpy.float32('inf'),
                        'step': numpy.int64(step), 'message': 'it rises'}
        return True
answers = io.StringIO()
print(Rises.serve([json.dumps({'step': 3, 'tensors': {'losses/train': 1}})], answers), answers.getvalue().strip())
)"),
            "3 {\"step\": 3, \"tensor\": \"losses/train\", \"value\": 0.5, \"threshold\": \"inf\", \"message\": \"it rises\"}\n");
}

TEST(PythonRule, HasAsManyStepsBeforeOneAsItAsksForAndThereAre) {
  TemporaryDirectory directory;
  EXPECT_EQ(run_python(directory / "rule.py", R"(
import json, tuneband_debugger
trial = tuneband_debugger.LiveTrial()
for step in 1, 2, 5:
    trial.add(json.dumps({'step': step, 'tensors': {'losses/train': 1}}))
print([trial.tensor('losses/train').previous_steps(5, count) for count in (0, 1, 2, 3)])
)"),
            "[[], [2], [1, 2], [1, 2]]\n");
}

TEST(PythonRule, LooksAgainAtTheNewestStepOfATrialThatRunsForMoreOfItMayCome) {
  TemporaryDirectory directory;
  EXPECT_EQ(run_python(directory / "rule.py", R"(
import tuneband_debugger as d
class Clock:
    now = 0
    def monotonic(self): return self.now
    def sleep(self, seconds): self.now += seconds
d.time = Clock()
class Comes(d.Rule):
    def invoke_at_step(self, step):
        asked.append(step)
        if self.trial.is_missing(step): raise d.NotSaved('no losses at step %d' % step)
        return step == 2
class Trial:
    def __init__(self, comes_at): self.comes_at = comes_at
    def steps(self): return [1, 2] if d.time.now < 2 else [1, 2, 3]
    def is_missing(self, step): return step == 1 or d.time.now < self.comes_at
for comes_at in 0.5, 9:
    asked, d.time.now = [], 0
    print(Comes(Trial(comes_at)).run(wait_seconds=3), d.time.now, asked)
)"),
            "2 0.5 [1, 2, 2]\nNone 5.0 [1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3]\n");
}

TEST_F(PythonClient, AJobLikeAnotherIsSubmittedByWhatIsOtherInIt) {
  EXPECT_EQ(python("server.submit('" + (directory_ / "job.json") + R"(').wait()
more = server.submit({'name': 'more', 'limits': {'max_trials': 2}, 'warm_start': ['of-python']}, like='of-python')
print(more.wait()['state'], len(more.rows()))
)"),
            "completed 2\n");
}

TEST_F(PythonClient, RowsHaveFurtherObjectivesAndWhatViolatesConstraints) {
  EXPECT_EQ(python(R"(
script = 'import sys; print(\'{"loss": 1, "latency": %s, "size": 6}\' % ("2" if int(sys.argv[1]) else "Infinity"))'
job = server.submit({
    'name': 'several', 'search_space': {'x': {'type': 'float', 'min': 0, 'max': 1}},
    'objectives': [{'metric': 'loss', 'goal': 'minimize', 'constraints': [{'metric': 'size', 'max': 4}]},
                   {'metric': 'latency', 'goal': 'minimize'}],
    'trainer': {'type': 'command', 'argv': ['/usr/bin/python3', '-c', script.replace('{', '{{').replace('}', '}}'), '{trial}']},
    'scheduler': {'type': 'none', 'max_resource': 1}, 'limits': {'max_trials': 2}})
job.wait()
for row in job.rows():
    print(row['value'], row['objective.latency'], row['violation'])
)"),
            "1 inf 0.5\n1 2.0 0.5\n");
}

// What a loop of a program's own begins with: `more` is what the document has besides.
std::string study_of(const std::string& more) {
  return R"(
import os, tempfile
tempfile.tempdir = os.path.dirname(os.path.abspath(__file__))
def document(name='study'):
    return {'name': name, 'objective': {'metric': 'loss', 'goal': 'minimize'}, )" +
         more + R"(,
            'search_space': {'x': {'type': 'float', 'min': -1, 'max': 1}}}
study = server.study(document())
print(study.job.warnings)
)";
}

constexpr const char* kFullTrainings = "'scheduler': {'type': 'none', 'max_resource': 1}, 'limits': {'max_trials': 4}";

TEST_F(PythonClient, AStudysTrialsAreTrainedByTheLoopThatAsksForThem) {
  EXPECT_EQ(python(study_of(kFullTrainings) + R"(
told = {}
for trial in study:
    told[trial.number] = trial.configuration['x'] ** 2
    trial.tell(told[trial.number], accuracy=0.5)
print(study.ask(), sorted(told))
rows = study.job.rows()
print([row['state'] for row in rows], {row['trial']: row['value'] for row in rows} == told)
print(study.job.request('GET', '/trials/0/observations')['observations'][0]['metrics']['accuracy'])
print([name for name in os.listdir(tempfile.tempdir) if name.startswith('tuneband-')])
)"),
            "[]\nNone [0, 1, 2, 3]\n['completed', 'completed', 'completed', 'completed'] True\n0.5\n[]\n");
}

TEST_F(PythonClient, AStudysTrialGoesOnFromTheRungThatItCameTo) {
  EXPECT_EQ(python(study_of("'trainer': {'resume': 'checkpoint'}, 'limits': {'max_trials': 2},"
                            "'scheduler': {'type': 'successive_halving', 'max_resource': 4, 'eta': 2, 'min_resource': 2}") +
                   R"(
went_on = []
for trial in study:
    path = os.path.join(trial.checkpoint_dir, 'at')
    came_to = int(open(path).read()) if os.path.exists(path) else 0
    wanted = []
    for epoch in range(trial.from_resource + 1, trial.max_resource + 1):
        with open(path, 'w') as file: file.write(str(epoch))
        wanted.append(trial.report(epoch, trial.configuration['x'] + 1 / epoch))
        if not wanted[-1]:
            break
    went_on.append((came_to, trial.from_resource, trial.until_resource, wanted))
for one in went_on: print(*one)
)"),
            "[]\n0 0 2 [True, False]\n0 0 2 [True, False]\n2 2 4 [True, False]\n");
}

TEST_F(PythonClient, AStudysTrialThatALoopLeavesUntoldIsHandedOutAgain) {
  EXPECT_EQ(python(study_of(kFullTrainings) + R"(
seen = []
try:
    for trial in study:
        seen.append((trial.number, trial.configuration))
        raise KeyboardInterrupt
except KeyboardInterrupt:
    pass
again = server.study('study')
with again.ask() as trial:
    seen.append((trial.number, trial.configuration))
    trial.tell(1)
for trial in server.study(document()):
    trial.tell(2)
print(seen[0] == seen[1], sorted(row['value'] for row in again.job.rows()), again.job.trials()[0]['attempts'])
)"),
            "[]\nTrue [1, 2, 2, 2] 1\n");
}

TEST_F(PythonClient, AStudysTrialFailsWithTheWordsThatItsLoopHasForIt) {
  const std::string said = python(study_of(kFullTrainings) + R"(
import numpy
tries = 0
for trial in study:
    if trial.number == 1:
        tries += 1
        trial.fail('no memory\nfor x')
    elif trial.number == 0:
        for nothing in None, 'low', {'loss': 1, 'size': [1, 2]}:
            try:
                trial.tell(nothing)
            except TypeError as error:
                print(error)
        trial.tell(numpy.float32(1), size=numpy.int64(3))
    elif trial.number == 3:
        trial.tell(float('nan'))
trials = study.job.trials()
print(tries, [trial['state'] for trial in trials], trials[3]['objective'], trials[2]['exit_class'])
print(trials[1]['message'])
)");
  EXPECT_THAT(said,
              HasSubstr("[]\nloss: expected a number, got None\nloss: expected a number, got 'low'\n"
                        "size: expected a number, got [1, 2]\n2 ['completed', 'failed', 'failed', 'completed'] nan no_metric\n"));
  EXPECT_THAT(said, HasSubstr("its last output: waits until a program asks for it | no memory | for x"));
}

TEST_F(PythonClient, OfAStudysTrialThatIsStoppedNoMoreIsWanted) {
  EXPECT_EQ(python(study_of("'scheduler': {'type': 'none', 'max_resource': 9}, 'limits': {'max_trials': 2}") + R"(
import select
trial = study.ask()
print(trial.report(1, 0.5))
try:
    server.study(document('other')).ask(seconds=0)
except TimeoutError as error:
    print(error)
study.job.stop_trial(trial.number)
select.select([trial._connection], [], [], 60)
print(trial.report(2, 0.4), trial.report(9, 0.3))
study.job.stop()
while study.ask() is not None:  # one whose command is just being ended
    pass
)"),
            "[]\nTrue\n<job 2 of " + server_.url() + "> has no trial to train after 0 s\nFalse False\n");
}

TEST_F(PythonClient, AJobWithATrainerOfItsOwnIsNoStudy) {
  EXPECT_EQ(python("server.submit('" + (directory_ / "job.json") + R"(').stop()
try:
    server.study('of-python')
except ValueError as error:
    print(str(error).partition('> ')[2])
)"),
            "is no study: its trials are trained by its trainer\n");
}

TEST_F(PythonClient, SaysEveryFaultOfADocument) {
  const std::string said = python(R"(
try:
    server.submit({'name': 'x', 'objective': {'metric': 'm', 'goal': 'up'}, 'search_space': {}, 'trainer': {}, 'scheduler': {}})
except tuneband.Refused as error:
    print(error.status, error.code, len(error.details))
    print(error)
try:
    server.job('nobody')
except tuneband.Refused as error:
    print(error.status)
try:
    tuneband.Server('http://127.0.0.1:1').jobs()
except ConnectionError as error:
    print(error)
)");
  EXPECT_THAT(said, HasSubstr("400 invalid_argument"));
  EXPECT_THAT(said, HasSubstr("objective.goal: expected "));
  EXPECT_THAT(said, HasSubstr("\nscheduler.max_resource: "));
  EXPECT_THAT(said, HasSubstr("\n404\ncannot reach the server at http://127.0.0.1:1: "));
  EXPECT_THAT(said, HasSubstr("(tuneband-server starts one)\n"));
}

TEST_F(PythonClient, SendsAFileAsItIs) {
  EXPECT_EQ(python("text = open('" + (directory_ / "job.json") + "', 'rb').read()\npath = '" + (directory_ / "other.json") + R"('
def submitted(content):
    open(path, 'wb').write(content)
    return server.submit(path)
print(submitted(b'\xef\xbb\xbf' + text))
for refused in b'{"weight": 1, "weight": 2, ' + text.strip()[1:], b'', b'[]', b'\xff':
    try:
        print(submitted(refused))
    except tuneband.Refused as error:
        print(error.status, str(error)[:45])
)"),
            "<job 1 of " + server_.url() +
                ">\n400 the key `weight` is given twice in one object\n400 not valid JSON: parse error at line 1, column\n"
                "400 expected an object, got []\n400 not valid JSON: parse error at line 1, column\n");
}

TEST_F(PythonClient, TakesNumbersAndArraysOfNumPyInADocument) {
  EXPECT_EQ(python("import numpy\ndocument = json.load(open('" + (directory_ / "job.json") + R"('))
document['trainer'] = {'type': 'command', 'argv': ['sleep', '600']}
document['search_space'] = {'eta': {'type': 'float', 'min': numpy.float32(0.5), 'max': 1},
                            'depth': {'type': 'categorical', 'values': numpy.arange(2, 5)}}
document['scheduler']['max_resource'] = numpy.int64(9)
job = server.submit(document)
print(job.change(weight=numpy.int64(3))['weight'])
nan = numpy.array([numpy.nan])
for fault in {'max': float('nan')}, {'max': numpy.float32('inf')}, {'values': [1, {2}]}, {'values': nan}, {(1, 2): 3}:
    document['search_space']['eta'] = fault
    try:
        server.submit(document)
    except ValueError as error:
        print(error)
try:
    job.change(weight=float('inf'))
except ValueError as error:
    print(error)
job.stop()
)"),
            "3\nsearch_space.eta.max: expected a value that JSON has, got nan\n"
            "search_space.eta.max: expected a value that JSON has, got inf\n"
            "search_space.eta.values[1]: expected a value that JSON has, got {2}\n"
            "search_space.eta.values: expected a value that JSON has, got array([nan])\n"
            "search_space.eta: expected a value that JSON has, got {(1, 2): 3}\n"
            "weight: expected a value that JSON has, got inf\n");
}

TEST_F(PythonClient, ChangesAJobAndStopsWaitingInTime) {
  EXPECT_EQ(python(R"(
document = json.load(open(')" +
                   (directory_ / "job.json") + R"('))
document['trainer'] = {'type': 'command', 'argv': ['sleep', '600']}
job = server.submit(document)
print(job.change(held=True, weight=2)['weight'])
try:
    job.wait(seconds=0.2)
except TimeoutError as error:
    print(error)
print(job.best(), job.importance())
job.stop()
print(job.wait()['state'])
try:
    job.model()
except LookupError as error:
    print(error)
)"),
            "2\n<job 1 of " + server_.url() + "> goes on after 0.2 s\nNone None\nstopped\n<job 1 of " + server_.url() +
                "> has no trial with a value\n");
}

}  // namespace
}  // namespace tuneband::test
