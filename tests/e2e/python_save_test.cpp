// What save() of clients/python/tuneband_debugger.py hands over, and what it tells of the rest. No server: the directory and the
// lines are what a worker reads.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/e2e/python_script.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::test {
namespace {

class PythonSave : public testing::Test {
 protected:
  PythonSave() { std::filesystem::create_directories(directory_ / "saved/weights"); }

  // What a script prints that knows the Python file as `d`, in a trial that saves `losses` and `weights` at each step.
  std::string in_a_trial(const std::string& script) {
    return run_python(directory_ / "script.py", "import os\nos.environ['TUNEBAND_TENSORS'] = '" + (directory_ / "saved") + R"('
each = '{"from": 0, "until": null, "every": 1, "steps": []}'
os.environ['TUNEBAND_COLLECTIONS'] = '{"losses": %s, "weights": %s}' % (each, each)
)" + outside(script));
  }
  std::string outside_of_one(const std::string& script) { return run_python(directory_ / "script.py", outside(script)); }

  TemporaryDirectory directory_;

 private:
  static std::string outside(const std::string& script) {
    return R"(import numpy, warnings
import tuneband_debugger as d
)" + script;
  }
};

TEST_F(PythonSave, TakesStepsOfNumPyAndWholeNumbersOfOtherKinds) {
  EXPECT_EQ(in_a_trial(R"(
for step in numpy.arange(1, 3):
    d.save(step, {'losses/train': numpy.float32(0.5), 'weights/w': numpy.ones(2)}, mode='validation')
d.save(3.0, {'losses/train': 1})
print(sorted(os.listdir(os.environ['TUNEBAND_TENSORS'] + '/weights')))
)"),
            "{\"step\": 1, \"tensors\": {\"losses/train\": 0.5}, \"mode\": \"validation\"}\n"
            "{\"step\": 2, \"tensors\": {\"losses/train\": 0.5}, \"mode\": \"validation\"}\n"
            "{\"step\": 3, \"tensors\": {\"losses/train\": 1.0}}\n"
            "['w@1.validation.npy', 'w@2.validation.npy']\n");
}

TEST_F(PythonSave, WhatCannotBeSavedIsAWarningInATrialAndOutsideOfOne) {
  const std::string script = R"(
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter('always')
    d.save(1, {'losses/list': [1, 2], 'losses/none': None, 'losses/text': '1', 'losses/large': -10**400, 3: 1.0,
               'weights/texts': numpy.array(['a']), 'weights/complex': numpy.array([1j, 2]),
               'weights/' + 'n' * 300: numpy.ones(2)})
    for step in 1.5, None, 'first', -1, 10**13, float('nan'):
        d.save(step, {'losses/train': 1})
    d.save(1, {'losses/infinite': -float('inf'), 'losses/one': numpy.ones(1), 'weights/' + 'n' * 226: numpy.ones(2)})
for one in told:
    print(str(one.message).replace('n' * 300, 'N'), '' if one.filename == __file__ else one.filename)
)";
  const std::string told =
      "losses/list is not saved: expected a number, or an array of NumPy or PyTorch, got list \n"
      "losses/none is not saved: expected a number, or an array of NumPy or PyTorch, got NoneType \n"
      "losses/text is not saved: expected a number, or an array of NumPy or PyTorch, got str \n"
      "losses/large is not saved: expected a number that a double can hold \n"
      "3 is not saved: expected a text as its name \n"
      "weights/texts is not saved: expected real numbers, got an array of <U1 \n"
      "weights/complex is not saved: expected real numbers, got an array of complex128 \n"
      "weights/N is not saved: expected at most 226 bytes behind the collection in the name of an array \n"
      "a step is not saved: expected a whole number from 0 to 1000000000000, got 1.5 \n"
      "a step is not saved: expected a whole number from 0 to 1000000000000, got None \n"
      "a step is not saved: expected a whole number from 0 to 1000000000000, got 'first' \n"
      "a step is not saved: expected a whole number from 0 to 1000000000000, got -1 \n"
      "a step is not saved: expected a whole number from 0 to 1000000000000, got 10000000000000 \n"
      "a step is not saved: expected a whole number from 0 to 1000000000000, got nan \n";
  EXPECT_EQ(outside_of_one(script), told);
  EXPECT_EQ(in_a_trial(script), "{\"step\": 1, \"tensors\": {\"losses/infinite\": -Infinity, \"losses/one\": 1.0}}\n" + told);
  EXPECT_TRUE(std::filesystem::exists(directory_ / ("saved/weights/" + std::string(226, 'n') + "@1.npy")));
}

TEST_F(PythonSave, WhatAPatternMeansThatPythonDoesNotReadIsForTheWorkerToSay) {
  EXPECT_EQ(in_a_trial(R"(
d._collections['losses']['patterns'] = [r'^losses/\pL+$']
d.save(1, {'losses/train': 2})
print(d.wants('losses/train', 1))
)"),
            "{\"step\": 1, \"tensors\": {\"losses/train\": 2.0}}\nTrue\n");
}

TEST_F(PythonSave, ANameThatIsNoneTakesNothingElseWithItAndWritesNoFileElsewhere) {
  EXPECT_EQ(in_a_trial(R"(
d._collections['weights']['patterns'] = ['.']
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter('always')
    d.save(1, {'losses/\udc80': 1, 'losses/train': 2, '/w': numpy.ones(2), '../w': numpy.ones(2), './w': numpy.ones(2)})
for one in told:
    print(ascii(str(one.message)))
saved = os.environ['TUNEBAND_TENSORS']
print(sorted(os.listdir(saved)), sorted(os.listdir(saved + '/..')))
)"),
            "{\"step\": 1, \"tensors\": {\"losses/train\": 2.0}}\n"
            "'losses/\\udc80 is not saved: expected a text as its name'\n"
            "'/w is not saved: arrays go into collections, and the job has no collection '\n"
            "'../w is not saved: arrays go into collections, and the job has no collection ..'\n"
            "'./w is not saved: arrays go into collections, and the job has no collection .'\n"
            "['weights'] ['saved', 'script.py']\n");
}

// Such as a sparse one of PyTorch.
TEST_F(PythonSave, AnArrayThatTurnsOutToBeNoneOfNumbersDoesNotEndTheTraining) {
  EXPECT_EQ(in_a_trial(R"(
class Sparse(numpy.ndarray):
    def tobytes(self): raise TypeError('it is sparse')
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter('always')
    d.save(1, {'weights/sparse': numpy.ones(2).view(Sparse), 'losses/train': 2})
print(*[one.message for one in told], os.listdir(os.environ['TUNEBAND_TENSORS'] + '/weights'))
)"),
            "{\"step\": 1, \"tensors\": {\"losses/train\": 2.0}}\nweights/sparse is not saved: TypeError('it is sparse') []\n");
}

}  // namespace
}  // namespace tuneband::test
