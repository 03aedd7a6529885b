internal import Foundation

/// The output of figures: a table for people, objects for programs.
struct Report {
  let outcome: Group.Outcome
  let problems: [String]

  /// The table, with aligned columns.
  var table: String {
    var rows = [["figure", "ratio", "middle half", "goal", "", "here", "there", "unit", "against"]]
    for figure in outcome.figures {
      rows.append([
        figure.name, short(figure.ratio.median),
        "\(short(figure.ratio.low)) – \(short(figure.ratio.high))", figure.goal.text,
        figure.isMet.map { $0 ? "met" : "MISSED" } ?? "", short(figure.value),
        short(figure.againstValue), figure.unit, figure.against,
      ])
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    var lines = rows.map { row in
      zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
        .joined(separator: "  ").trimmingSuffix(" ")
    }
    lines += outcome.skipped.map { "left out: \($0)" }
    lines += problems.map { "not measured: \($0)" }
    let missed = outcome.figures.filter { $0.isMet == false }.count
    lines.append("\(outcome.figures.count) figures, \(missed) goals missed")
    return lines.joined(separator: "\n")
  }

  /// Returns one object per line: the figures, the omissions and the failures.
  func objects() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var lines = try outcome.figures.map { figure in
      String(decoding: try encoder.encode(FigureObject(figure)), as: UTF8.self)
    }
    for (key, texts) in [("leftOut", outcome.skipped), ("notMeasured", problems)] {
      lines += try texts.map { String(decoding: try encoder.encode([key: $0]), as: UTF8.self) }
    }
    return lines.joined(separator: "\n")
  }

  private func short(_ value: Double) -> String {
    switch abs(value) {
    case 1_000_000...: String(format: "%.2fM", value / 1_000_000)
    case 10_000...: String(format: "%.1fk", value / 1000)
    case 100...: String(format: "%.0f", value)
    case 10...: String(format: "%.1f", value)
    default: String(format: "%.2f", value)
    }
  }
}

private struct FigureObject: Encodable {
  let name: String
  let ratio: Double
  let ratioLow: Double
  let ratioHigh: Double
  let against: String
  let goal: Double?
  let goalIs: String?
  let isMet: Bool?
  let value: Double
  let againstValue: Double
  let unit: String

  init(_ figure: Figure) {
    name = figure.name
    ratio = figure.ratio.median
    ratioLow = figure.ratio.low
    ratioHigh = figure.ratio.high
    against = figure.against
    switch figure.goal {
    case .atLeast(let bound): (goal, goalIs) = (bound, "atLeast")
    case .atMost(let bound): (goal, goalIs) = (bound, "atMost")
    case .none: (goal, goalIs) = (nil, nil)
    }
    isMet = figure.isMet
    value = figure.value
    againstValue = figure.againstValue
    unit = figure.unit
  }
}

extension Figure.Goal {
  fileprivate var text: String {
    switch self {
    case .atLeast(let bound): "≥ \(bound)"
    case .atMost(let bound): "≤ \(bound)"
    case .none: ""
    }
  }
}

extension String {
  fileprivate func trimmingSuffix(_ character: Character) -> String {
    var text = self
    while text.last == character { text.removeLast() }
    return text
  }
}
