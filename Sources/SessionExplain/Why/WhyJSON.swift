@_spi(Internals) import SessionCore
package import SessionJSON

extension JSONWriter {
  /// Writes the fields of an explanation; times in its texts are in UTC.
  package mutating func explanation(_ explanation: Explanation) {
    let text = WhyText(zone: .utc)
    field("class", explanation.cause.class.rawValue)
    field("cause", explanation.cause.id)
    field("certainty", explanation.certainty.rawValue)
    field("text", text.fill(explanation.cause.headline, explanation.headline))
    field("summary", explanation.summary(in: .english))
    field("app", explanation.app)
    field("platform", explanation.platform)
    field("user", explanation.user)
    field("sequence", explanation.sequence)
    field("time", explanation.time)
    object("state") { json in
      json.field("before", explanation.before.description)
      json.field("after", explanation.after.description)
    }
    field("reason", explanation.reason)
    field("policyEnded", explanation.isClosedByPolicy)
    if let root = explanation.root.first {
      object("root") { $0.explanation(root) }
    } else {
      null("root")
    }
    array("chain", explanation.chain) { json, link in
      json.object { json in
        json.field("sequence", link.fact.sequence)
        json.field("name", link.fact.record.name)
        json.field("time", link.isInFile ? link.fact.time : nil)
        json.field("role", link.role.rawValue)
        json.field("text", WhyText.text(of: link.fact))
      }
    }
    field("omittedRequests", explanation.omitted)
    findings("proven", explanation.findings.proven, text)
    findings("inferred", explanation.findings.inferred, text)
    findings("ruledOut", explanation.findings.ruledOut, text)
    findings("alsoSeen", explanation.findings.alsoSeen, text)
    array("untold", explanation.findings.untold) { json, untold in
      json.object { json in
        json.field("what", untold.what.rawValue)
        json.field("text", text.fill(untold.what.sentence, untold.values))
      }
    }
    array("advice", explanation.findings.advice) { json, advice in
      json.object { json in
        json.field("what", advice.what.rawValue)
        json.field("text", text.fill(advice.what.sentence, advice.values))
      }
    }
    field("compactedBefore", explanation.compactedBefore)
    field("signedInAgain", explanation.signedInAgain)
    if explanation.others.before > 0 { field("otherEnds", explanation.others.before) }
    if explanation.others.after > 0 { field("laterEnds", explanation.others.after) }
    guard !explanation.others.newest.isEmpty else { return }
    array("others", explanation.others.newest) { json, end in
      json.object { json in
        json.field("sequence", end.sequence)
        json.field("time", end.time)
        json.field("cause", end.cause.id)
        json.field("certainty", end.certainty.rawValue)
      }
    }
  }

  private mutating func findings(_ name: StaticString, _ findings: [Finding], _ text: WhyText) {
    array(name, findings) { json, finding in
      json.object { json in
        json.field("what", finding.what.rawValue)
        json.field("against", finding.what.topic)
        json.field("text", text.fill(finding.what.sentence, finding.values))
        json.field("certainty", finding.certainty.rawValue)
        json.array("sequences", finding.sequences) { $0.value($1) }
        if let searched = finding.searched {
          json.array("searched", [searched.lowerBound, searched.upperBound]) { $0.value($1) }
        } else {
          json.null("searched")
        }
      }
    }
  }
}
