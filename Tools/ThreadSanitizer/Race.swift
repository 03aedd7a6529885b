import Foundation
import Synchronization

// What the sanitizer must tell, and what not: threads that count without a lock ("race"), and under one.

let cell = UnsafeMutablePointer<Int>.allocate(capacity: 1)
cell.initialize(to: 0)
let address = Int(bitPattern: cell)
let locked = Mutex(0)
let isLocked = CommandLine.arguments.last != "race"

DispatchQueue.concurrentPerform(iterations: 8) { _ in
  for _ in 0..<20_000 {
    if isLocked {
      locked.withLock { $0 += 1 }
    } else {
      UnsafeMutablePointer<Int>(bitPattern: address)?.pointee += 1
    }
  }
}
cell.deallocate()
