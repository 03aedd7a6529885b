internal import SessionExplain
internal import SessionJSON
internal import SessionJournal

/// The text and the JSON about what follows the good prefix.
struct SurveyReport {
  /// The maximum number of lines in the text; JSON has them all.
  private static let shownLines = 20

  let survey: JournalSurvey

  init(_ survey: JournalSurvey) {
    self.survey = survey
  }

  /// The lost and readable parts, in the order of the file.
  var lines: [(String, String)] {
    let parts =
      survey.gaps.map { ($0.offsets.lowerBound, 0, lostLabel, line($0)) }
      + survey.runs.map { ($0.offsets.lowerBound, 1, "readable", line($0)) }
    let sorted = parts.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map { ($0.2, $0.3) }
    var lines = Array(sorted.prefix(Self.shownLines))
    if sorted.count > lines.count {
      let more = sorted.count - lines.count
      lines.append(("", "and \(count(more, "more part")), which --json lists"))
    }
    if let rest = survey.rest { lines.append(("beyond", line(rest))) }
    return lines
  }

  /// Bytes that never counted are not lost.
  private var lostLabel: String {
    if case .damaged = survey.ending { return "lost" }
    return "unread"
  }

  private func line(_ gap: LostRange) -> String {
    var text = gap.offsets.isEmpty ? "no bytes" : bytes(gap.offsets)
    if let sequences = gap.sequences { text += ", \(seq(sequences))" }
    if gap.looseFrames > 0 {
      text += "; \(count(gap.looseFrames, "whole frame")) that count nowhere"
    }
    return text
  }

  private func line(_ run: ReadableRun) -> String {
    "\(bytes(run.offsets)), \(seq(run.sequences)): \(count(run.records, "record"))"
  }

  private func line(_ rest: OmittedRuns) -> String {
    let found = "\(count(rest.runs, "more run")) with \(count(rest.records, "record"))"
    return "\(bytes(rest.offsets)): \(found)\(rest.isSearched ? "" : "; not searched to the end")"
  }

  private func bytes(_ offsets: Range<UInt64>) -> String {
    "bytes \(offsets.lowerBound.grouped) to \((offsets.upperBound - 1).grouped)"
  }

  private func seq(_ sequences: ClosedRange<UInt64>) -> String {
    sequences.count == 1
      ? "seq \(sequences.lowerBound)" : "seq \(sequences.lowerBound) to \(sequences.upperBound)"
  }

  func write(_ json: inout JSONWriter) {
    json.object("behind") { json in
      json.array("lost", survey.gaps) { json, gap in
        json.object { json in
          offsets(gap.offsets, &json)
          json.field("firstSequence", gap.sequences?.lowerBound)
          json.field("lastSequence", gap.sequences?.upperBound)
          json.field("looseFrames", gap.looseFrames)
        }
      }
      json.array("readable", survey.runs) { json, run in
        json.object { json in
          offsets(run.offsets, &json)
          json.field("firstSequence", run.sequences.lowerBound)
          json.field("lastSequence", run.sequences.upperBound)
          json.field("records", run.records)
        }
      }
      json.field("room", survey.room)
      guard let rest = survey.rest else { return json.null("rest") }
      json.object("rest") { json in
        offsets(rest.offsets, &json)
        json.field("runs", rest.runs)
        json.field("records", rest.records)
        json.field("searched", rest.isSearched)
      }
    }
  }

  private func offsets(_ offsets: Range<UInt64>, _ json: inout JSONWriter) {
    json.field("offset", offsets.lowerBound)
    json.field("bytes", offsets.upperBound - offsets.lowerBound)
  }
}
