internal import SessionChanges
internal import SessionCore
internal import SessionJournal
internal import SessionKit

extension Group {
  /// The cost of a user's change: to add it durably, and to send it with its records.
  static let changes = Group(name: "changes", summary: "a change taken in, and one sent") { stage in
    let place = VisitorPlace(stage)
    let session = try blocking { try await Visitor.signedIn(at: place) }
    let gate = session.gate
    let raw = try RawFile(stage.path("raw changes"))
    let (shortPath, longPath) = (stage.path("few.journal"), stage.path("many.journal"))
    let few = try blocking { try await ChangeLog.open(at: shortPath) }
    let many = try blocking { try await ChangeLog.open(at: longPath) }
    let content = [UInt8](repeating: 0x78, count: 200)
    let waiting = 900
    try blocking {
      for number in 0..<waiting {
        try await many.add(.update(entity(number), content: content), through: gate)
      }
    }
    // The size is that of a record of such a change: kind, time, key, names and what surrounds
    // them.
    let bytes = RawFile.bytes(for: [
      JournalDraft(kind: 0xA0, payload: content + [UInt8](repeating: 0, count: 100))
    ])
    let count = stage.pick(10, 20)
    let contenders = [
      Contest.Contender(name: "raw") {
        try .timing(count) { for _ in 0..<count { try raw.append(bytes) } }
      },
      Contest.Contender(name: "add") {
        try blocking { try await few.discardAll() }
        return try .timing(count) {
          try blocking {
            for number in 0..<count {
              try await few.add(.update(entity(number), content: content), through: gate)
            }
          }
        }
      },
      Contest.Contender(name: "add to many") {
        try .timing(count) {
          try blocking {
            for number in 0..<count {
              try await many.add(.update(entity(number), content: content), through: gate)
            }
          }
        }
      },
      Contest.Contender(name: "send") {
        try blocking {
          try await few.discardAll()
          for number in 0..<count {
            try await few.add(.update(entity(number), content: content), through: gate)
          }
        }
        return try .timing(count) {
          let drained = try blocking { try await few.drain(through: gate) { _ in .done } }
          try expect(drained.acknowledged == count, "not all were sent")
        }
      },
    ]
    let rates = try Contest(contenders: contenders).rates(rounds: stage.pick(10, 100))
    try blocking {
      try expect(many.queue.pending.count == waiting, "the changes did not coalesce")
      try await few.close()
      try await many.close()
      try await session.close()
    }
    return Outcome(figures: [
      try .comparing(
        "changes.add.raw", "add", to: "raw", in: rates, goal: .none, unit: "changes/s"),
      try .comparing(
        "changes.many.add", "add to many", to: "add", in: rates, goal: .none, unit: "changes/s"),
      try .comparing(
        "changes.send.raw", "send", to: "raw", in: rates, goal: .none, unit: "changes/s"),
    ])
  }

  private static func entity(_ number: Int) -> EntityReference {
    EntityReference("task", Identifier("4f1c2a7e-0000-4000-8000-\(100_000_000_000 + number)"))
  }
}
