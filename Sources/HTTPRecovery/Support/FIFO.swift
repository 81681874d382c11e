/// A queue whose first element is taken in constant time.
package struct FIFO<Element> {
    private var elements: [Element?] = []
    private var head = 0

    package init() {}

    package var count: Int { elements.count - head }
    package var isEmpty: Bool { count == 0 }
    package var first: Element? { isEmpty ? nil : elements[head] }

    /// All elements, first to last.
    package var all: [Element] { elements[head...].compactMap(\.self) }

    package mutating func append(_ element: Element) {
        elements.append(element)
    }

    package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let first = elements[head]
        elements[head] = nil
        head += 1
        if isEmpty {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 64, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return first
    }

    package mutating func prepend(_ element: Element) {
        if head > 0 {
            head -= 1
            elements[head] = element
        } else {
            elements.insert(element, at: 0)
        }
    }

    /// Takes all elements.
    package mutating func removeAll() -> [Element] {
        defer { self = FIFO() }
        return all
    }

    /// Takes those that fulfil the condition.
    @discardableResult
    package mutating func remove(where condition: (Element) -> Bool) -> [Element] {
        let present = removeAll()
        elements = present.filter { !condition($0) }
        return present.filter(condition)
    }
}

extension FIFO: Sendable where Element: Sendable {}
