internal import SessionCore
internal import SessionJournal
internal import SessionKit

/// A whole journal on its way into the database.
struct MovingJournal {
  private static let batchSize = 1_000

  let identifier: JournalIdentifier
  let recordSize: Int
  private(set) var view = LogView()
  private(set) var snapshot: (record: JournalRecord, chain: Chain)?
  private(set) var batches: [Batch] = []
  private var records: [JournalRecord] = []

  /// The number of records, a snapshot included.
  var count: Int { batches.reduce(snapshot == nil ? 0 : 1) { $0 + $1.count } }

  /// Reads a journal to its end; any ending except a clean one is refused.
  init(_ reader: inout JournalReader) throws(MigrationError) {
    identifier = reader.header.identifier
    recordSize = Int(reader.header.maximumRecordSize)
    view.first = reader.header.firstSequence
    let isWhole: Bool
    do throws(JournalError) {
      while let record = try reader.next() { take(record) }
      if case .clean = try reader.ending() { isWhole = true } else { isWhole = false }
    } catch {
      throw .log(error)
    }
    guard isWhole else { throw .notWhole(path: reader.path) }
    finishBatch()
  }

  private mutating func take(_ record: JournalRecord) {
    // A watermark at the end takes a sequence and is no record: the log goes on with that sequence.
    view.last = record.sequence
    if record.isSnapshot {
      // A snapshot begins a chain: any value will do.
      snapshot = (record, view.chain)
    } else {
      records.append(record)
      if records.count == Self.batchSize { finishBatch() }
    }
  }

  private mutating func finishBatch() {
    guard !records.isEmpty else { return }
    batches.append(Batch(records, after: &view.chain))
    records = []
  }
}

/// The secrets of a journal on their way into the database.
struct MovingSecrets {
  /// The items that a session stores.
  private static let all: [SecretItem] = [.token, .user, .context, .revocation, .refreshToken]

  let items: [(SecretItem, [UInt8])]

  /// Reads all items of a store; nil has none.
  init(_ store: (any SecretStore)?) throws(MigrationError) {
    var items: [(SecretItem, [UInt8])] = []
    do throws(SecretStoreError) {
      for item in Self.all {
        if let bytes = try store?.read(item) { items.append((item, bytes)) }
      }
    } catch {
      throw .secrets(error)
    }
    self.items = items
  }

  /// Writes the items within a transaction.
  func write(to store: PostgresSecrets, in transaction: ThreadTransaction) throws(MigrationError) {
    let written = ThreadTransaction.$current.withValue(transaction) {
      () -> Result<Void, SecretStoreError> in
      do throws(SecretStoreError) {
        for (item, bytes) in items { try store.write(item, bytes) }
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    _ = transaction.end()
    if case .failure(let error) = written { throw .secrets(error) }
  }
}
