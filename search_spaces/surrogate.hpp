// What samplers with a surrogate model share: which points it sees, which candidates it rates.
#pragma once

#include <vector>

#include "search_spaces/encoded_history.hpp"

namespace tuneband {

// At most `most` of them, those of the own job first: of them the best half, and of the rest those that a hash picks
// (so that they are the same from call to call). Earlier jobs have what is left, and up to half of `most`.
std::vector<ScoredPoint> chosen_points(const std::vector<ScoredPoint>& points, std::size_t most, std::uint64_t seed);

// Their points, each once, by target: the best first, at most `most`.
std::vector<const Point*> most_promising(const std::vector<ScoredPoint>& scored, std::size_t most);

// 250 points anywhere, 30 near each of `best`, and `best` themselves.
std::vector<Point> candidate_points(const Encoding& encoding, const std::vector<const Point*>& best, Draws& draws);

// Whether a point is among the points taken, or a near-duplicate of one at an end of a float's range: within kNearDuplicate of it
// in every number's unit scale, and a float within that of an end. Where a model expects the best beyond the range it would
// propose that end again and again.
inline constexpr double kNearDuplicate = 0.01;
bool is_taken(const Encoding& encoding, const Point& point, const std::vector<Point>& taken);

// Of the candidates that are not taken at most `most`, those of the greatest values first.
std::vector<std::size_t> best_candidates(const Encoding& encoding, const std::vector<Point>& candidates,
                                         const std::vector<double>& values, const std::vector<Point>& taken, std::size_t most);

// The candidate of the greatest value that is not taken; when all are, the greatest.
std::size_t best_candidate(const Encoding& encoding, const std::vector<Point>& candidates, const std::vector<double>& values,
                           const std::vector<Point>& taken);

// Open trials without a result, the newest first, at most `most`.
std::vector<const Point*> pending_points(const History& history, const std::vector<Point>& points, std::size_t most);
// Trials that have not failed and have no result at max_resource, open or not.
std::vector<const Point*> unfinished_points(const History& history, const std::vector<Point>& points, std::size_t most);

}  // namespace tuneband
